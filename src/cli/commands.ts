import {
  hook,
  hooksDrain,
  hooksFire,
  hooksInstall,
  hooksList,
  hooksRemove,
  sessionsCreate,
} from './commands/agent.ts';
import { archivePrune, archiveShow, archiveVerify, erase, replay } from './commands/archive.ts';
import { digest, quarantineAccept, quarantineList, status, verify } from './commands/checks.ts';
import { budgetCheck, budgets, people, peopleMissing, prices } from './commands/csv-files.ts';
import { backfill, run, serve } from './commands/export.ts';
import { config, demo, emulate, schema } from './commands/getting-started.ts';
import { bi, copy, focus, publish } from './commands/publish.ts';
import { dashboard, metric, report } from './commands/reports.ts';
import type { Command } from './program/command.ts';

/** Every command, in the order of help. */
export const commands: readonly Command[] = [
  run,
  backfill,
  serve,
  status,
  verify,
  digest,
  metric,
  quarantineList,
  quarantineAccept,
  people.load,
  peopleMissing,
  people.list,
  prices.load,
  prices.list,
  budgets.load,
  budgets.list,
  budgetCheck,
  copy,
  replay,
  archiveVerify,
  archiveShow,
  archivePrune,
  erase,
  publish,
  bi,
  focus,
  dashboard,
  report,
  config,
  schema,
  emulate,
  demo,
  sessionsCreate,
  hook,
  hooksInstall,
  hooksList,
  hooksRemove,
  hooksFire,
  hooksDrain,
];
