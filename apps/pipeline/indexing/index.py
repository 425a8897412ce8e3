"""Stage 7, index: the vectors of a memory's content and of other texts by which it can be found.

These are questions that it answers and, if the end user doesn't speak English, the quote in their language.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder, Vector
from apps.pipeline.core.type_traits import TYPE_TRAITS
from apps.pipeline.resolution.entity_index import USER

MAX_QUOTE = 500  # characters
# Template questions for an index without a model (HyPE), by predicate: with words that the statement lacks.
_BY_PREDICATE: Mapping[str, tuple[str, ...]] = {
    "name": ("What is {whose} name?", "What is {subject} called?", "How should {subject} be addressed?"),
    "nickname": ("What is {whose} nickname?", "What do friends call {subject}?", "How should {subject} be addressed?"),
    "age": ("How old is {subject}?", "What is {whose} age?", "When was {subject} born?"),
    "birthday": ("When is {whose} birthday?", "When was {subject} born?", "What is {whose} date of birth?"),
    "lives_in": ("Where does {subject} live?", "What city or country is {whose} home?", "Where is {subject} based?"),
    "comes_from": ("Where is {subject} from?", "Where did {subject} grow up?", "What is {whose} home country?"),
    "works_as": ("What does {subject} do for a living?", "What is {whose} job?", "What is {whose} profession?"),
    "works_at": ("Where does {subject} work?", "What company employs {subject}?", "Who is {whose} employer?"),
    "works_on": ("What is {subject} working on?", "What is {whose} current project?", "What does {subject} build?"),
    "studies": ("What does {subject} study?", "What is {whose} major or degree?", "What is {subject} learning?"),
    "studies_at": ("Where does {subject} study?", "What school does {subject} attend?", "What is {whose} university?"),
    "partner": ("Who is {whose} partner?", "Is {subject} married or dating?", "Who is {whose} husband or wife?"),
    "marital_status": ("Is {subject} married?", "Does {subject} have a partner?", "Is {subject} single?"),
    "has_child": ("Does {subject} have children?", "What are {whose} kids called?", "Who is {whose} son or daughter?"),
    "has_sibling": ("Does {subject} have siblings?", "Who is {whose} brother or sister?", "Who is in {whose} family?"),
    "has_pet": ("Does {subject} have a pet?", "What is {whose} dog or cat called?", "What animals does {subject} own?"),
    "owns": ("What does {subject} own?", "Does {subject} have a {object}?", "What belongs to {subject}?"),
    "drives": ("What car does {subject} drive?", "What vehicle does {subject} own?", "How does {subject} get around?"),
    "bought": ("What did {subject} buy?", "What has {subject} purchased?", "What is new that {subject} owns?"),
    "likes": ("What does {subject} like?", "What does {subject} enjoy?", "What are {whose} hobbies and interests?"),
    "dislikes": ("What does {subject} dislike?", "What does {subject} hate?", "What should {subject} not be offered?"),
    "prefers": ("What does {subject} prefer?", "What is {whose} preference?", "What would {subject} choose?"),
    "allergic_to": ("What is {subject} allergic to?", "Does {subject} have allergies?", "What must {subject} not eat?"),
    "has_condition": (
        "What is {whose} medical condition?",
        "What health problems does {subject} have?",
        "What illness does {subject} suffer from?",
    ),
    "takes_medication": (
        "What medication does {subject} take?",
        "What drugs were prescribed to {subject}?",
        "How is {subject} treated?",
    ),
    "diet": ("What does {subject} eat?", "Is {subject} vegetarian or vegan?", "What is {whose} diet?"),
    "knows_skill": ("What can {subject} do?", "What skills does {subject} have?", "What is {subject} good at?"),
    "speaks": ("What languages does {subject} speak?", "Does {subject} speak {object}?", "What is {whose} language?"),
    "plays": ("What does {subject} play?", "What is {whose} instrument or sport?", "Does {subject} play {object}?"),
    "plans": ("What does {subject} plan to do?", "What are {whose} plans?", "What will {subject} do next?"),
    "wants": ("What does {subject} want?", "What are {whose} goals?", "What does {subject} hope for?"),
    "visited": ("Where has {subject} been?", "What places did {subject} visit?", "Where did {subject} travel?"),
    "decided": ("What did {subject} decide?", "What was {whose} decision?", "What was agreed?"),
    "convention": ("How should this be done for {subject}?", "What rules did {subject} set?", "What is always done?"),
    "constraint": ("What must never be done?", "What did {subject} forbid?", "What should be avoided for {subject}?"),
}  # fmt: skip

_LAST = ("What did {subject} say about {about}?", "Tell me about {about}.", "What do we know of {about}?")

_VERBS_IN_FRONT = ("has_", "is_", "works_", "lives_", "was_", "takes_")
_ABOUT_WORDS = 12


@dataclass(frozen=True, slots=True)
class Indexable:
    """The parts of a memory that stage 7 needs."""

    id: UUID
    type: MemoryType
    content: str
    subject: str = ""  # the subject's name
    predicate: str = ""
    object_text: str = ""
    foreign_quote: str = ""  # the quote, if it is in another language than the content
    model_questions: tuple[str, ...] = ()  # written by a model; replace those of the templates
    user: str = ""  # the end user's name


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """The vectors of one memory; `questions` are all texts but the content, with their vectors in the same order."""

    memory_id: UUID
    vector: Vector
    questions: tuple[str, ...] = ()
    question_vectors: tuple[Vector, ...] = ()


def run(memories: Sequence[Indexable], *, embedder: Embedder, policy: IndexPolicy) -> tuple[VectorEntry, ...]:
    """Embed all texts of the memories in one call; equal input gives equal entries.

    Raises the embedder's errors; there are no partial results.
    """
    asked = [questions_of(memory, policy=policy) for memory in memories]
    texts: list[str] = []
    for memory, questions in zip(memories, asked, strict=True):
        texts.append(memory.content)
        if memory.user in ("", USER):
            texts += questions
        else:  # without the end user's own name, which makes the vectors of nearly all questions alike
            names = "|".join(map(re.escape, memory.user.split()))
            named = re.compile(rf"\b({names})(['’]s?|s)?(?!\w)")
            texts += [" ".join(named.sub("", each).split()) for each in questions]
    vectors = iter(embedder.embed(texts))
    return tuple(
        VectorEntry(
            memory_id=memory.id,
            vector=next(vectors),
            questions=questions,
            question_vectors=tuple(next(vectors) for _ in questions),
        )
        for memory, questions in zip(memories, asked, strict=True)
    )


def questions_of(memory: Indexable, *, policy: IndexPolicy) -> tuple[str, ...]:
    """Return the questions that a memory answers, and its quote in another language."""
    questions = memory.model_questions or questions_for(
        type=memory.type,
        subject=memory.subject,
        predicate=memory.predicate,
        object_text=memory.object_text,
        content=memory.content,
        count=policy.questions,
    )
    return (*questions, memory.foreign_quote[:MAX_QUOTE]) if memory.foreign_quote else questions


def questions_for(
    *, type: MemoryType, subject: str, predicate: str, object_text: str, content: str, count: int = 3
) -> tuple[str, ...]:
    """Return up to `count` different questions that a memory answers, those for its predicate first.

    `subject` is the subject's name or empty; `object_text` and `predicate` may be empty as well.
    """
    name = subject or "the user"
    gist = content.removeprefix(subject).lstrip(" :,'").rstrip(" .!").split()[:_ABOUT_WORDS]
    attribute = predicate  # "manager" of has_manager, "phone number" of phone_number
    for verb in _VERBS_IN_FRONT:
        attribute = attribute.removeprefix(verb)
    words = {
        "subject": name,
        "whose": f"{name}'" if name.endswith("s") else f"{name}'s",
        "object": object_text or "one",
        "about": object_text or " ".join(gist),
        "attribute": attribute.replace("_", " "),
    }
    templates = (*_BY_PREDICATE.get(predicate, ()), *TYPE_TRAITS[type].questions, *_LAST)
    asked = (each.format_map(words) for each in templates if predicate or "{attribute}" not in each)
    return tuple(dict.fromkeys(asked))[:count]
