"""Adding up the coverage of the oracle."""

from __future__ import annotations

import pytest

from e2e.oracle.coverage import PLUGINS, Block, blocks, share, table

PROFILE = f"""mode: set
{PLUGINS}nodename/node_name.go:10.20,12.3 2 0
{PLUGINS}nodename/node_name.go:10.20,12.3 2 1
{PLUGINS}nodename/node_name.go:14.2,14.9 1 0
{PLUGINS}dynamicresources/dynamicresources.go:1.2,3.4 5 1
{PLUGINS}volumebinding/test_utils.go:1.2,3.4 5 1
{PLUGINS}volumebinding/binder.go:7.2,7.4 3 1
berth/e2e/oracle/cmd/oracle/main.go:1.2,3.4 5 1
"""


def test_a_block_counts_once_and_is_reached_if_any_run_reached_it():
    assert blocks(PROFILE) == [
        Block("nodename/node_name.go", 10, 2, reached=True),
        Block("nodename/node_name.go", 14, 1, reached=False),
        Block("volumebinding/binder.go", 7, 3, reached=True),
    ]


def test_the_share_is_of_statements():
    assert share(blocks(PROFILE)) == (5, 6)


@pytest.mark.parametrize("row", [["nodename", "3", "2", "66.7"], ["volumebinding", "3", "3", "100.0"]])
def test_the_table_has_a_row_for_each_plugin(row: list[str]):
    assert row in [line.split() for line in table(blocks(PROFILE)).splitlines()]


def test_the_last_row_is_the_sum():
    assert table(blocks(PROFILE)).splitlines()[-1].split() == ["all", "6", "5", "83.3"]
