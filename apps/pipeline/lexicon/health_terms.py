"""Words that show that a statement is about somebody's health: conditions, and endings of names of medicines."""

# Nouns for conditions, as an RE2 alternation; the endings are those of medical Greek.
CONDITION_NOUNS = (
    r"(?:type \d )?(?:diabetes|asthma|adhd|ocd|ptsd|autism|epilepsy|anxiety|depression|migraines?|insomnia|an(?:a)?emia"
    r"|ibs|pcos|gerd|eczema|hay fever|gout|tinnitus|vertigo|cancer|glaucoma|reflux|sciatica|lupus"
    r"|sleep apno?ea|(?:atrial )?fibrillation"
    r"|co?eliac(?: disease)?|concussion|whiplash|carpal tunnel|rosacea|(?:heart )?arrhythmia|chronic (?:pain|fatigue)"
    r"|(?:chronic |constant |lower |bad )+(?:back|neck|knee|hip|shoulder|joint|nerve|pelvic|foot|heel) pain"
    r"|(?:deviated|torn|slipped|frozen|herniated|bulging|ruptured|detached|perforated|trapped|pinched|collapsed"
    r"|fractured|prolapsed|enlarged|irregular|leaky) (?:septum|disc|shoulder|retina|eardrum|nerve"
    r"|lung|heart ?beat|heart"
    r"|prostate|spleen|cartilage|valve|rotator cuff|vertebrae?|bladder)"
    r"|heart failure|angina|(?:stomach |peptic )?ulcers?|cataracts?|shingles|pre-?diabetes"
    r"|long covid|dementia|parkinson(?:'?s)?|alzheimer(?:'?s)?|crohn'?s"
    r"|(?:high|low) (?:blood pressure|cholesterol)|(?:underactive|overactive) thyroid"
    r"|heart (?:condition|murmur)|bad (?:back|knee|hip|shoulder)|(?:kidney|gall) ?stones"
    r"|fear of [\w ]+|phobia of [\w ]+"
    r"|(?:stress |hairline )?fractures?|hernia|slipped disc|torn (?:ligament|meniscus|muscle|tendon|acl)|pacemaker"
    r"|(?:[\w'’-]+ ){1,2}(?:disease|disorder|syndrome|deficiency)"
    r"|\w{3,}(?:itis|osis|algia|aemia|emia|lexia|roidism|tension))"
)
# Endings of international non-proprietary names of medicines (WHO stems, as RE2), and names without such an ending.
_STEMS = (
    "pril sartan olol statin prazole cilline? mycin oxetine formine? imibe? azepam azolam triptan gliptin "
    "gliflozin glutide dipine tidine profen thyroxine parin xaban lukast setron azole vir mab nib oxacin cycline "
    "olone asone onide terol tropium semide thiazide lactone traline citalopram faxine triptyline zapine peridone "
    "idone giline lamide bital gabalin bapentin "
)
_OTHERS = (
    "insulin", "aspirin", "naproxen", "diclofenac",
    "ibuprofen", "paracetamol", "acetaminophen", "codeine", "morphine", "tramadol", "warfarin",
    "clopidogrel", "digoxin", "lithium", "melatonin", "methotrexate", "prednisone", "prednisolone", "cortisone",
    "levodopa", "antihistamines?", "antibiotics?", "antidepressants?", "painkillers?", "steroids?", "beta[ -]blockers?",
    "blood thinners?", "iron tablets?", r"vitamin [a-z]\d*",
    "folic acid", "iodine", "magnesium", "zinc", r"ferrous \w+",
)  # fmt: skip


def _in_other_languages(stem: str) -> str:
    """Return a stem with the endings of other languages: omeprazole is Omeprazol in German, omeprazol in Spanish."""
    bare = stem.removesuffix("e")
    return stem if bare == stem or stem.endswith("?") else f"{bare}[ea]?" if len(bare) > 4 else f"{bare}[ea]"


MEDICINE = rf"(?:[\p{{L}}\d]{{2,}}(?:{'|'.join(map(_in_other_languages, _STEMS.split()))})s?|{'|'.join(_OTHERS)})"
# Words that show that a statement is about somebody's health.
HEALTH_SIGN = (
    rf"(?:{MEDICINE}|{CONDITION_NOUNS}|allerg\w*|intoleran\w*|diagnos\w+|symptoms?|tablets|pills|medication|medicines?"
    r"|doctors?|gp|consultant|specialist|surgeon|physio\w*|\w{3,}ologist|pa?ediatrician|midwife|surgery|operations?"
    r"|operated|biopsy|chemo\w*|dialysis|blood (?:pressure|sugar|thinners|test|type)|cholesterol|ferritin|insulin"
    r"|pacemaker|wheelchair|crutches|hives|rash|cramps|lactose|gluten|dairy)"
)
