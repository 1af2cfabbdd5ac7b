"""A program with the client of openapi-python-client, run by scripts/ci-clients.sh."""

import datetime
import os

from agent_platform_api_client import AuthenticatedClient
from agent_platform_api_client.api.analytics import get_tokens, get_tools, get_users
from agent_platform_api_client.api.readiness import list_readiness_reports
from agent_platform_api_client.api.sessions import create_session
from agent_platform_api_client.models import (
    GetTokensGroupBy,
    Problem,
    ReadinessAnswer,
    Session,
    SessionRequest,
    TokensByModelAnswer,
    UsersAnswer,
)
from agent_platform_api_client.types import UNSET

client = AuthenticatedClient(base_url=os.environ["EMULATOR_URL"], token=os.environ["EMULATOR_KEY"])
day = datetime.date(2026, 2, 3)

users, cursor = [], UNSET
for _ in range(100):
    page = get_users.sync(client=client, start_date=day, end_date=day, limit=20, cursor=cursor)
    assert isinstance(page, UsersAnswer), page
    users += page.data
    if not page.meta.has_more:
        break
    cursor = page.meta.next_cursor
assert len(users) > 40, len(users)

grouped = get_tokens.sync(client=client, start_date=day, end_date=day, group_by=GetTokensGroupBy.MODEL)
assert isinstance(grouped, TokensByModelAnswer) and grouped.data[0].group_key, grouped

reports = list_readiness_reports.sync(client=client, limit=100)
assert isinstance(reports, ReadinessAnswer) and len(reports.reports) == 100, reports

session = create_session.sync(client=client, body=SessionRequest(computer_id="computer-1", cwd="/srv/app"))
assert isinstance(session, Session) and session.status.value == "pending", session

today = datetime.date(2026, 6, 1)
refused = get_tools.sync(client=client, start_date=today, end_date=today)
assert isinstance(refused, Problem) and refused.status == 400, refused
print(f"openapi-python-client: {len(users)} users")
