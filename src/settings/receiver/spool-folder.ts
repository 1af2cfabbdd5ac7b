import { spoolOf } from '../../hooks/spool/location.ts';
import { readDotenv } from '../dotenv.ts';

/** What decides where a received event goes. */
export interface DestinationSources {
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/**
 * The spool that a received event goes to: flag before environment before `.env` before default, as everywhere.
 * `.env` is read only where neither flag nor environment says anything.
 */
export function destinationOf({ flags, env, directory }: DestinationSources): string {
  const given = (values: Readonly<Record<string, string | undefined>>, spool: string, warehouse: string) => ({
    spool: said(values[spool]),
    warehouse: said(values[warehouse]),
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

function said(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

// A `.env` that cannot be read belongs to the folder the agent works in, and is no reason to lose the event.
function dotenvOf(directory: string): Readonly<Record<string, string | undefined>> {
  try {
    return readDotenv(directory).values;
  } catch {
    return {};
  }
}
