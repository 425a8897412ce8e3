"""Labels before a speaker's own words: "Reminder: I'm vegan". Other words before a colon may be a name."""

OWN_LABELS = frozenset(
    "reminder note ps update edit correction fyi btw context background also important question answer summary info fact"
    " facts profile bio about status today yesterday tomorrow goal goals plan plans preference preferences diet health"
    " allergy allergies hobby hobbies job work location home family age city language languages education budget"
    " monday tuesday wednesday thursday friday saturday sunday me us personal hint disclaimer warning remember"
    " task problem issue request situation requirements hi hello hey ok okay yes no well so thing news deal short clear"
    " truth honest honestly point spoiler confession finally conclusion result reason reasons because"
    " record things simple go re aw listen anyway exception rule next neues neuigkeit neuigkeiten nachtrag korrektur nouvelle nouvelles hinweis erinnerung frage rappel beruf wohnort familie übrigens wichtig question".split()
)
