"""Built-in predicates: their synonyms, and whether they have one value at a time."""

import re
from collections.abc import Mapping
from functools import lru_cache

from apps.pipeline.core.policy import KnownPredicate, ResolutionPolicy
from apps.pipeline.core.statement import Candidate

# Attributes and verbs with one true value at a time; a newer value supersedes the older one.
STATEFUL = frozenset(
    "name nickname faith age birthday pronouns email phone_number lives_in comes_from works_at works_as works_on_team "
    "studies_at studies marital_status has_manager has_boss has_supervisor has_partner has_wife has_husband has_spouse "
    "has_girlfriend has_boyfriend has_fiance has_fiancee has_landlord has_doctor has_dentist has_therapist diet drives "
    "car phone laptop timezone native_language home shoe_size blood_type weight height reply_language".split()
)
# Nouns with a date, of which somebody has one at a time: "dentist appointment", "due date".
DATED_NOUNS = frozenset(
    "appointment surgery operation interview exam flight deadline date checkup check-up wedding party launch "
    "release go-live viewing scan mri".split()
)
# Nouns with an amount or a measure, of which somebody has one at a time.
MEASURED_NOUNS = frozenset("budget price fee rent salary dose dosage target limit weight".split())
# Roles in the set-up of a team or person that one thing fills at a time.
_ROLES = frozenset(
    "ci editor ide shell os operating_system database package_manager cloud_provider hosting bank address cloud "
    "framework orm".split()
)
_ONE_AT_A_TIME = tuple(f"_{noun.replace('-', '_')}" for noun in sorted({*DATED_NOUNS, *MEASURED_NOUNS}))
# Predicates with many values, whatever an extractor says.
IDEMPOTENT = frozenset(
    "likes dislikes speaks owns has_pet has_child has_friend has_sister has_brother has_colleague knows knows_skill "
    "has_visited visited plays reads watches allergic_to has_hobby wants wants_assistant_to values believes_in "
    "uses takes_medication intolerant_to has_condition can_have consumes has_appointment".split()
)
_STATEFUL_PREFIXES = ("favourite_", "dose_of_")
HEALTH_PREDICATES = frozenset({"allergic_to", "intolerant_to", "takes_medication", "has_condition"})
_OTHER_NAMES = """
works_at employed_by employed_at is_employed_by has_job_at job_at works_for has_employer employer working_at
works_as has_job job job_title has_job_title profession has_profession occupation has_occupation employed_as
lives_in resides_in living_in lives_at based_in is_based_in residence has_residence city_of_residence home_city
comes_from is_from hails_from originates_from from
studies_at enrolled_at student_at attends_university is_student_at
studies field_of_study majors_in
birthday born_on date_of_birth birth_date birthdate has_birthday
age has_age is_aged years_old
marital_status relationship_status has_marital_status
has_manager manager reports_to has_line_manager is_managed_by managed_by
has_boss boss
has_spouse spouse married_to is_married_to
diet follows_diet has_diet dietary_preference is_on_diet
allergic_to is_allergic_to has_allergy has_allergy_to allergy
intolerant_to is_intolerant_to has_intolerance has_intolerance_to
takes_medication takes_medicine takes_drug medication on_medication is_on_medication is_taking_medication
has_condition has_medical_condition medical_condition suffers_from health_condition
uses is_using uses_tool
likes enjoys loves adores fond_of is_fond_of
dislikes hates detests cannot_stand does_not_like
speaks speaks_language knows_language
email email_address has_email
phone_number telephone_number has_phone_number
timezone time_zone has_timezone
has_pet owns_pet
drives drives_car
"""
_BUILT_IN: dict[str, str] = {
    other: names.split()[0] for names in _OTHER_NAMES.strip().splitlines() for other in names.split()
}
_SPELLINGS = (("favorite_", "favourite_"), ("has_favorite_", "favourite_"), ("has_favourite_", "favourite_"))


def is_stateful(predicate: str) -> bool:
    """Return True if a predicate has one true value at a time; unknown predicates don't, which is the safer choice."""
    if predicate in STATEFUL or predicate in _ROLES or predicate.startswith(_STATEFUL_PREFIXES):
        return True
    return predicate not in IDEMPOTENT and f"_{predicate}".endswith(_ONE_AT_A_TIME)


def with_canonical_predicate(candidate: Candidate, *, policy: ResolutionPolicy) -> Candidate:
    """Return a candidate with the canonical name of its predicate, and with the flag that belongs to it."""
    predicate = canonical_predicate(candidate.predicate, more=policy.predicates)
    if predicate in policy.predicates:
        return candidate.evolve(predicate=predicate, stateful=policy.predicates[predicate].stateful)
    is_told = candidate.stateful and predicate != "" and predicate not in IDEMPOTENT
    return candidate.evolve(predicate=predicate, stateful=is_stateful(predicate) or is_told)


def canonical_predicate(predicate: str, *, more: Mapping[str, KnownPredicate]) -> str:
    """Return the canonical name of a predicate and its synonyms; an unknown predicate stays as it is, in snake_case."""
    plain = re.sub(r"[\s-]+", "_", predicate.strip().casefold())
    for spelling, ours in _SPELLINGS:
        if plain.startswith(spelling):
            plain = ours + plain.removeprefix(spelling)
    return _names(tuple((name, known.synonyms) for name, known in more.items())).get(plain, plain)


@lru_cache(maxsize=64)
def _names(more: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, str]:
    """Map each name to the canonical one; an admin's names take precedence over built-in ones."""
    return _BUILT_IN | {other: name for name, synonyms in more for other in (name, *synonyms)}
