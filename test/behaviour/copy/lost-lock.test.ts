import { expect, test } from 'vitest';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { ChangeSet, createCopyWriter } from '../../../src/copy/copy-writer.ts';
import { BusyError } from '../../../src/core/errors.ts';
import { sessionRow } from '../../support/copy/full-warehouse.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

test('nothing is written to a destination locked by another program', async () => {
  const destination = await open(sqlite);
  const lock = await destination.lock({ exclusive: true });
  const taken = { ...lock, claim: () => Promise.reject(new BusyError('taken')) };
  const writer = createCopyWriter({ destination, lock: taken, observe: () => undefined });
  const changes = new ChangeSet();
  changes.add(tables.sessions, [
    { kind: 'put', row: encoderOf(tables.sessions)(sessionRow('org_1', 'session_1')) },
  ]);
  const units = { unitsMoved: 0, unitsUnchanged: 0, unitsRemoved: 0 };
  await expect(
    writer.commit(changes, { what: 'sessions', firstDay: '', lastDay: '', units }),
  ).rejects.toThrow('taken');
  expect(await destination.place.query('SELECT * FROM sessions')).toEqual([]);
});
