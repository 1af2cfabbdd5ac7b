import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Alarms } from './alarms.ts';
import { drawWorld } from './events.ts';
import { live } from './life.ts';
import type { Fault } from './oracle.ts';

/** What became of the world of a seed. */
export interface LivedWorld {
  readonly seed: number;
  readonly nights: number;
  readonly fault: Fault | null;
  readonly honest: Alarms;
}

interface Campaign {
  /** The seed of the next world; null if there shall be no more. */
  readonly nextSeed: () => number | null;
  /** Goes on after a world that broke a promise. @default false */
  readonly keepsGoing?: boolean;
  readonly onLived: (lived: LivedWorld) => void;
}

const SELF = fileURLToPath(import.meta.url);
const WORKER = 'lives-worlds';
/** Most of the time goes into code that runs a few times and into objects that live for a night. */
const NODE_OPTIONS = [...process.execArgv, '--max-semi-space-size=64', '--always-sparkplug'];

/** Lives worlds in several processes. Resolves with the first that broke a promise, and with null if none did. */
export function startWorkers(
  processes: number,
  { nextSeed, onLived, keepsGoing = false }: Campaign,
): Promise<(LivedWorld & { fault: Fault }) | null> {
  return new Promise((resolve, reject) => {
    let [running, failed]: [number, (LivedWorld & { fault: Fault }) | null] = [processes, null];
    const workers = Array.from({ length: processes }, () => fork(SELF, [WORKER], { execArgv: NODE_OPTIONS }));
    for (const worker of workers) {
      const next = () => {
        const seed = failed === null || keepsGoing ? nextSeed() : null;
        if (seed === null) worker.disconnect();
        else worker.send(seed);
      };
      worker.on('message', (lived: LivedWorld) => {
        const { fault } = lived;
        onLived(lived);
        if (fault !== null) failed ??= { ...lived, fault };
        next();
      });
      worker.on('error', reject);
      worker.on('exit', (code) => {
        running -= 1;
        if (code !== 0) reject(new Error(`a process of the world ended with ${code}`));
        else if (running === 0) resolve(failed);
      });
      next();
    }
  });
}

if (process.argv[2] === WORKER) {
  process.once('disconnect', () => process.exit());
  process.on('message', (seed: number) => {
    live(drawWorld(seed))
      .then((lived) => process.send?.({ seed, ...lived }))
      .catch((error: unknown) => {
        process.stderr.write(`world ${seed}: ${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      });
  });
}
