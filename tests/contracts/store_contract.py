"""The contract of stores: the same tests run against the in-memory store and the PostgreSQL one."""

from tests.contracts.entity_contract import EntityContract
from tests.contracts.reading_contract import ReadingContract
from tests.contracts.writing_contract import WritingContract


class StoreContract(WritingContract, EntityContract, ReadingContract):
    """All that a store has to do; subclasses give the fixture `world`."""
