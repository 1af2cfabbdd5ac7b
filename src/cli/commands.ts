import { archivePrune } from './commands/archive/prune/command.ts';
import { archiveShow } from './commands/archive/show/command.ts';
import { archiveVerify } from './commands/archive/verify/command.ts';
import { backfill } from './commands/backfill/command.ts';
import { bi } from './commands/bi/command.ts';
import { budgetCheck } from './commands/budget/check/command.ts';
import { budgetList } from './commands/budget/list/command.ts';
import { budgetLoad } from './commands/budget/load/command.ts';
import { config } from './commands/config/command.ts';
import { copy } from './commands/copy/command.ts';
import { dashboard } from './commands/dashboard/command.ts';
import { demo } from './commands/demo/command.ts';
import { digest } from './commands/digest/command.ts';
import { emulate } from './commands/emulate/command.ts';
import { erase } from './commands/erase/command.ts';
import { focus } from './commands/focus/command.ts';
import { hook } from './commands/hook/command.ts';
import { hooksDrain } from './commands/hooks/drain/command.ts';
import { hooksFire } from './commands/hooks/fire/command.ts';
import { hooksInstall } from './commands/hooks/install/command.ts';
import { hooksList } from './commands/hooks/list/command.ts';
import { hooksRemove } from './commands/hooks/remove/command.ts';
import { metric } from './commands/metric/command.ts';
import { peopleList } from './commands/people/list/command.ts';
import { peopleLoad } from './commands/people/load/command.ts';
import { peopleMissing } from './commands/people/missing/command.ts';
import { pricesList } from './commands/prices/list/command.ts';
import { pricesLoad } from './commands/prices/load/command.ts';
import { publish } from './commands/publish/command.ts';
import { quarantineAccept } from './commands/quarantine/accept/command.ts';
import { quarantineList } from './commands/quarantine/list/command.ts';
import { replay } from './commands/replay/command.ts';
import { report } from './commands/report/command.ts';
import { run } from './commands/run/command.ts';
import { schema } from './commands/schema/command.ts';
import { serve } from './commands/serve/command.ts';
import { sessionsCreate } from './commands/sessions/create/command.ts';
import { status } from './commands/status/command.ts';
import { verify } from './commands/verify/command.ts';
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
  peopleLoad,
  peopleMissing,
  peopleList,
  pricesLoad,
  pricesList,
  budgetLoad,
  budgetList,
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
