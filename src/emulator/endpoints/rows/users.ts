import type { UserRow } from '../../../api/shapes/users.ts';
import { DELEGATION, MODELS } from '../../dataset/catalog.ts';
import { LANGUAGE_NAMES } from './productivity.ts';
import { type DayView, rank } from './view.ts';

/** One row of /users: what an active user did on the day of the view (specification, section 2.4). */
export function writeUserRow(view: DayView, user: number): UserRow {
  const { dataset, day, date } = view;
  const facts = dataset.userDay(user, day, 'users');
  const model = MODELS[facts.primaryModel];
  return {
    user_id: dataset.population.idOf(user),
    user_email: dataset.population.emailOf(user, day),
    date,
    tool_calls: facts.toolCalls,
    billable_tokens: facts.billable,
    primary_model: model?.id ?? null,
    primary_model_tier: model?.tier ?? null,
    files_created: facts.filesCreated,
    files_edited: facts.filesEdited,
    git_commits: facts.commits,
    git_prs_created: facts.pullRequests,
    mcp_calls: facts.mcpCalls,
    skill_calls: facts.skillCalls,
    slash_commands: facts.slashCommands,
    hooks: facts.hooks,
    sessions: facts.sessions,
    messages: facts.userMessages + facts.assistantMessages,
    user_messages: facts.userMessages,
    assistant_messages: facts.assistantMessages,
    autonomy_ratio: facts.autonomyRatio / 10_000,
    delegation_level: DELEGATION[facts.delegation] ?? null,
    languages: rank(LANGUAGE_NAMES, facts.languages).map(({ name }) => name),
  };
}
