"""What language each memory is in: "en" was every writer's default and says nothing; blank says that nobody said.

Every row is written, so that the trigger gives it its tongue.
"""

from django.db import migrations

FORGET = "update memories_memory set language = case language when 'en' then '' else language end"
PUT_BACK = "update memories_memory set language = 'en' where language = ''"


class Migration(migrations.Migration):
    dependencies = [("memories", "0008_terms_by_language")]

    operations = [migrations.RunSQL(FORGET, PUT_BACK)]
