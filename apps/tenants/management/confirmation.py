"""Questions of commands to whoever runs them."""


def answer_to(question: str) -> str:
    """Ask on the terminal; without one, as in a scheduled job, the answer is empty."""
    try:
        return input(question).strip().lower()
    except EOFError:
        return ""
