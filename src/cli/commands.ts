import type { Command } from './command.ts';
import { backfill } from './commands/backfill.ts';
import { config } from './commands/config.ts';
import { copy } from './commands/copy.ts';
import { demo } from './commands/demo.ts';
import { digest } from './commands/digest.ts';
import { emulate } from './commands/emulate.ts';
import { hook } from './commands/hook.ts';
import { hooksDrain } from './commands/hooks-drain.ts';
import { hooksFire } from './commands/hooks-fire.ts';
import { hooksInstall } from './commands/hooks-install.ts';
import { hooksList } from './commands/hooks-list.ts';
import { hooksRemove } from './commands/hooks-remove.ts';
import { publish } from './commands/publish.ts';
import { quarantineAccept } from './commands/quarantine-accept.ts';
import { quarantineList } from './commands/quarantine-list.ts';
import { run } from './commands/run.ts';
import { schema } from './commands/schema.ts';
import { sessionsCreate } from './commands/sessions-create.ts';
import { status } from './commands/status.ts';
import { verify } from './commands/verify.ts';

/** Every command, in the order of help. */
export const commands: readonly Command[] = [
  run,
  backfill,
  status,
  verify,
  digest,
  quarantineList,
  quarantineAccept,
  copy,
  publish,
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
