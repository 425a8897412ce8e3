"""Stage 6, persist: apply a whole plan, or nothing."""

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.operations import AddMemory, LinkMemories, MergeInto, SupersedeMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Ports


def run(draft: Draft, plan: WritePlan, ports: Ports) -> Draft:
    """Apply a plan in one transaction.

    Raises StalePlan; nothing is written then.
    """
    ports.writer.apply(draft=draft, plan=plan)
    return draft.evolve(
        details={
            "added": len(plan.of(AddMemory)),
            "merged": len(plan.of(MergeInto)),
            "superseded": len(plan.of(SupersedeMemory)),
            "linked": len(plan.of(LinkMemories)),
        }
    )
