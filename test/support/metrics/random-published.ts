import type { AnyTable } from '../../../schema/define.ts';
import { tables } from '../../../schema/tables.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { pick, type Random } from '../random/seed.ts';
import { type Collector, metricOf } from './collector.ts';

/** Adds what the service publishes for the organization in a stream on a day. */
export function publishedRows(rows: Collector, stream: DailyStream, date: string, random: Random): void {
  const numbersOf = (table: AnyTable) =>
    Object.fromEntries(
      Object.entries(table.columns).flatMap(([name, { kind }]) =>
        kind === 'metric' ? [[name, metricOf(random)] as const] : [],
      ),
    );
  const add = (table: AnyTable, key: Readonly<Record<string, string | null>> = {}) =>
    rows.add(table, { date, ...key, ...numbersOf(table) });
  const some = (names: readonly string[]) => names.filter(() => random() < 0.6);
  if (stream === 'tokens') {
    add(tables.tokensDaily);
    for (const model_id of some(['opus', 'haiku', 'gpt']))
      add(tables.tokensDailyByModel, { model_id, model_tier: pick(random, ['standard', 'thinking', null]) });
  }
  if (stream === 'activity') {
    add(tables.activityDaily);
    for (const client of some(['web', 'terminal-ui'])) add(tables.activityDailyByClient, { client });
  }
  if (stream === 'productivity') {
    for (const language of some(['Go', 'Rust'])) add(tables.productivityDailyByLanguage, { language });
  }
  if (stream === 'tools') {
    add(tables.toolsDaily);
    for (const tool of some(['Read', 'Edit'])) add(tables.toolsDailyByTool, { tool });
    for (const server of some(['github', 'linear'])) add(tables.toolsDailyByMcpServer, { server });
    for (const name of some(['review', 'deploy'])) {
      add(tables.toolsDailyBySkill, { name });
      add(tables.toolsDailyBySlashCommand, { name });
    }
    for (const event of some(['Stop', 'PreToolUse'])) {
      add(tables.toolsDailyByHook, { event, matcher: pick(random, ['', 'Edit']), command: "say 'hi'" });
    }
  }
}
