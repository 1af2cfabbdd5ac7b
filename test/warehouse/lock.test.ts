import { describe, expect, it } from 'vitest';
import { firstLine, startScript } from '../support/child.ts';
import { commitOf } from '../support/commit-of.ts';
import { tempFile } from '../support/temp-dir.ts';
import { thrownBy } from '../support/transport.ts';
import { openTemporary } from '../support/warehouse.ts';

/** A process that takes the lock, says so, and does not let go by itself. */
function holder(path: string) {
  return startScript(
    `
    import { openWarehouse } from './src/warehouse/open.ts';
    import { systemClock } from './src/core/clock.ts';
    const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: true });
    try {
      await warehouse.lock();
      console.log('locked');
    } catch (error) {
      console.log(error.name + ' ' + error.exitCode);
      process.exit();
    }
    setInterval(() => {}, 1000);`,
    { env: { WAREHOUSE: path } },
  );
}

describe('the run lock', () => {
  it('is held by one at a time, in this process and in others', async () => {
    const warehouse = await openTemporary();
    const lock = await warehouse.lock();
    expect(await thrownBy(warehouse.lock())).toMatchObject({
      name: 'BusyError',
      exitCode: 75,
      message: `another run holds the warehouse ${warehouse.path}`,
      hint: expect.stringContaining('--wait'),
    });
    const other = await openTemporary(warehouse.path);
    expect(await thrownBy(other.lock())).toMatchObject({ name: 'BusyError' });
    expect(await firstLine(holder(warehouse.path))).toBe('BusyError 75');
    await lock.release();
    await (await other.lock()).release();
  });

  it('is not lost when this process tries to take it again', async () => {
    const warehouse = await openTemporary();
    await warehouse.lock();
    await thrownBy(warehouse.lock());
    await (await openTemporary(warehouse.path)).close();
    expect(await firstLine(holder(warehouse.path))).toBe('BusyError 75');
  });

  it('keeps nobody from reading and writing', async () => {
    const warehouse = await openTemporary();
    const lock = await warehouse.lock();
    const other = await openTemporary(warehouse.path);
    await other.commitDay(commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
    expect(await warehouse.units('org_1')).toHaveLength(1);
    await lock.release();
  });

  it('is free at once when its holder is killed', async () => {
    const path = tempFile();
    const script = holder(path);
    expect(await firstLine(script)).toBe('locked');
    const warehouse = await openTemporary(path);
    expect(await thrownBy(warehouse.lock())).toMatchObject({ name: 'BusyError', exitCode: 75 });
    script.child.kill('SIGKILL');
    expect((await script.ended).signal).toBe('SIGKILL');
    await (await warehouse.lock()).release();
  });

  it('of one warehouse is not that of another', async () => {
    const [a, b] = [await openTemporary(), await openTemporary()];
    const locks = [await a.lock(), await b.lock()];
    for (const lock of locks) await lock.release();
  });
});
