"""What changes the rules of a project and shows what a change would do: rules, replays, rollbacks, evaluation."""
