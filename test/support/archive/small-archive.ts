import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { type OpenArchive, openArchive } from '../../../src/archive/open-archive.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { runReads } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';

export const NOW = new Date('2026-01-20T03:00:00Z');
export const DAY = parseDay('2026-01-18');
export const PATIENCE = { clock: systemClock(NOW), signal: new AbortController().signal };

/** What an archive asks of a warehouse. */
export type ArchiveWarehouse = Pick<Warehouse, 'read' | 'select' | 'transact'>;

/** A warehouse that has stored nothing, and knows nobody who was erased. */
export function emptyWarehouse(): ArchiveWarehouse {
  return {
    select: async () => [],
    read: (steps) => runReads({ select: async () => [] }, steps()),
    transact: async () => {
      throw new Error('nothing is to be written');
    },
  };
}

/** Opens an archive as a run does. Without a clock, no answer waits for others. */
export function opened(
  archive: string,
  clock: Clock = { ...PATIENCE.clock, sleep: (_, signal) => PATIENCE.clock.sleep(1, signal) },
  warehouse = emptyWarehouse(),
): Promise<OpenArchive> {
  const { signal } = PATIENCE;
  return openArchive({ archive, people: { mode: 'keep' }, clock, signal, warehouse });
}

/** What is kept of a day, unless it says otherwise. */
export interface KeptAnswer {
  readonly orgId?: string;
  readonly runId?: string;
  readonly text?: string;
  readonly at?: Date;
  readonly content?: string;
  readonly verdict?: 'believed' | 'doubted';
  /** Null leaves it open, as a kill does. @default committed */
  readonly outcome?: 'committed' | 'dropped' | null;
}

/** Keeps an answer about the users of a day. */
export async function keep(
  archive: OpenArchive,
  { orgId = 'org_1', runId = 'run', text = '{}', at = NOW, ...more }: KeptAnswer = {},
): Promise<void> {
  const { content = '0'.repeat(64), verdict = 'believed', outcome = 'committed' } = more;
  const rows = await archive.keepRows([{ text, count: 1 }]);
  const names = await archive.beginDays([
    {
      ...{ orgId, stream: 'users', day: DAY, runId, pulledAt: at, verdict, rows },
      ...{ contentSha256: content, isOwn: true, requests: 1, today: DAY, settleDays: 3 },
    },
  ]);
  if (outcome !== null) await archive.end(names, outcome);
}

/** Runs a statement on the file of an archive, as another program might. */
export function changeFile(path: string, statement: string): Promise<void> {
  return withArchive(ArchiveFile.write(path), ({ db }) => void db.exec(statement));
}
