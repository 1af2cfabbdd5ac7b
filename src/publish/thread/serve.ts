import type { MessagePort } from 'node:worker_threads';
import { allTables } from '../../../schema/tables.ts';
import { sentError } from '../../core/sent-error.ts';
import type { WarehouseReader } from '../../warehouse/port.ts';
import { explained } from '../lake/folder.ts';
import type { FileFacts } from '../parquet/write-file.ts';
import type { RowSource } from '../rows.ts';
import { writePartition } from '../write-partition.ts';
import type { PartitionWork, Reply, Request } from './messages.ts';

/** Writes the partitions that the port asks for, all of one snapshot; ends when it is told to. */
export function servePublish(
  port: MessagePort,
  reader: WarehouseReader,
  source: Omit<RowSource, 'warehouse'>,
): Promise<void> {
  const tell = (reply: Reply) => port.postMessage(reply);
  const answer = async (work: PartitionWork) => {
    try {
      tell({ type: 'written', facts: await write(work, { ...source, warehouse: reader }) });
    } catch (error) {
      tell({ type: 'failed', error: sentError(error) });
    }
  };
  return reader.inSnapshot(
    () =>
      new Promise<void>((resolve) => {
        port.on('message', (request: Request) => {
          if (request.type === 'close') resolve();
          else void answer(request.work);
        });
        tell({ type: 'ready' });
      }),
  );
}

function write({ table: name, rows, part, target }: PartitionWork, source: RowSource): Promise<FileFacts> {
  const table = allTables.find((known) => known.name === name);
  if (table === undefined) throw new TypeError(`there is no table ${name}`);
  return explained(target, () => writePartition(source, { table, rows }, part));
}
