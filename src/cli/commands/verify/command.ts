import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

const AGAINST_API = { min: 1, max: 100_000 };
const SEED = { min: 0, max: 1_000_000_000 };

/** `daywalk verify`: whether the warehouse still holds what was stored. */
export const verify: Command = {
  name: 'verify',
  summary: 'recomputes every unit from its rows; compares endpoints',
  description:
    'Recomputes the digest of every unit from the stored rows and compares it with the ledger, which finds a flipped ' +
    'byte, a row that was edited by hand, a day that was deleted. Compares the endpoints with each other, day by day. ' +
    'Content that is not what was stored, holes and differences from the service end with exit code 5, a damaged file ' +
    'with 6, units that could not be pulled again with 4; figures of the service that do not go together are warnings.',
  uses: exportSettings,
  flags: [
    {
      syntax: '--against-api <units>',
      doc: 'also pull so many units again, and compare them with what is stored',
    },
    { syntax: '--seed <number>', doc: 'decides which units are pulled again; by chance unless given' },
    { syntax: '--json', doc: 'print one JSON document with the findings' },
  ],
  examples: [
    { line: 'daywalk verify', does: 'checks the whole warehouse; sends nothing' },
    { line: 'daywalk verify --against-api 20', does: 'also asks the service for twenty of its days again' },
  ],
  resultIsOutput: true,
  act: async ({ settings, job, flags, out }) => {
    const { exitCodeOf, verifyWarehouse } = await import('../../../../jobs/verify.ts');
    const { renderVerification } = await import('./screen.ts');
    const againstApi = flags.number('--against-api', AGAINST_API) ?? 0;
    const seed = flags.number('--seed', SEED);
    const result = await verifyWarehouse(settings, { againstApi, seed }, job);
    const { style } = out.terminal;
    if (flags.isOn('--json')) out.json(result);
    else out.print(renderVerification(result, { width: out.terminal.columns(), style }));
    return exitCodeOf(result);
  },
};
