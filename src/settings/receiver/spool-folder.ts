import { spoolOf } from '../../hooks/spool/location.ts';
import { readDotenv } from '../dotenv.ts';

/** The sources in which the folder of the spool may be set. */
export interface SpoolSources {
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/**
 * The spool that a received event goes to: flag, then environment, then `.env`, then default, as for every setting.
 * `.env` is read only if neither a flag nor the environment names a place.
 */
export function spoolFolderOf({ flags, env, directory }: SpoolSources): string {
  const given = (values: Readonly<Record<string, string | undefined>>, spool: string, warehouse: string) => ({
    spool: textOf(values[spool]),
    warehouse: textOf(values[warehouse]),
  });
  const byFlag = given(flags, '--spool', '--warehouse');
  const byEnv = given(env, 'DAYWALK_SPOOL', 'DAYWALK_WAREHOUSE');
  const isNamed = [byFlag, byEnv].some(({ spool, warehouse }) => spool !== null || warehouse !== null);
  const byFile = isNamed
    ? { spool: null, warehouse: null }
    : given(dotenvOf(directory), 'DAYWALK_SPOOL', 'DAYWALK_WAREHOUSE');
  return spoolOf({
    spool: byFlag.spool ?? byEnv.spool ?? byFile.spool,
    warehouse: byFlag.warehouse ?? byEnv.warehouse ?? byFile.warehouse ?? 'daywalk.db',
    directory,
  });
}

function textOf(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

// The agent works in this folder. An unreadable `.env` there must not lose the event.
function dotenvOf(directory: string): Readonly<Record<string, string | undefined>> {
  try {
    return readDotenv(directory).values;
  } catch {
    return {};
  }
}
