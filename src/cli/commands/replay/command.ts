import { STREAMS } from '../../../core/stream.ts';
import { replaySettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk replay`: the warehouse, rebuilt from the archive. */
export const replay: Command = {
  name: 'replay',
  summary: 'rebuilds the warehouse from the archive, without a request',
  description:
    'Stores the newest committed answers of the archive again: rows, ledger and rollups. The digest of the result is that of ' +
    'the runs that wrote the archive. Days that are stored already are compared, and written only if they differ; what the ' +
    'warehouse has pulled later stays, with exit code 4. With --as-of, an empty warehouse gets what was committed by an ' +
    'instant. After an interruption, the same command resumes. Answers that were doubted are never replayed.',
  uses: replaySettings,
  flags: {
    '--from <day>': 'first day, YYYY-MM-DD; default: the first day of the service',
    '--until <day>': 'last day, YYYY-MM-DD; default: yesterday (UTC)',
    '--streams <list>': `streams, separated by commas: ${STREAMS.join(', ')}; default: all`,
    '--as-of <instant>':
      'what was committed by this instant, for example 2026-05-03T12:00:00Z; into an empty warehouse',
    '--wait': 'wait for a run to end instead of exiting with code 75',
    ...jsonFlag,
  },
  examples: {
    'daywalk replay --archive /var/lib/daywalk/archive --warehouse new.db': 'a lost warehouse, rebuilt',
    'daywalk replay --archive /var/lib/daywalk/archive --as-of 2026-05-03T12:00:00Z --warehouse may.db':
      'what the warehouse said on 3 May at noon (UTC)',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
