import { warehouseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk digest`: checksums of the content of the warehouse. */
export const digest: Command = {
  name: 'digest',
  summary: 'a SHA-256 of each table and of the whole warehouse',
  description:
    'Computes a SHA-256 of each table and of the whole warehouse. It covers only the content: the same content has the ' +
    'same digest in SQLite and PostgreSQL, whichever runs stored it and in whichever order.',
  uses: warehouseSettings,
  flags: { ...jsonFlag },
  examples: {
    'daywalk digest': 'the digests of the warehouse in daywalk.db',
    'test "$(daywalk digest --json --warehouse a.db)" = "$(daywalk digest --json --warehouse b.db)"':
      'whether two warehouses have the same content',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
