import { isServer, STEPS, stepsIn } from '../chaos/run-and-kill.ts';
import { daywalk, type Ended } from '../process/daywalk-process.ts';
import { pick, type Random } from '../random/seed.ts';

/** Kinds of steps at which a process is killed. */
const KINDS = ['statement', 'socket', 'file'] as const;
/** The first kill of a rehearsal comes before anything is known about the length of a run. */
const FIRST_STEPS = 20;
/** A run that reaches its end before its kill has less to do than it was thought, and is started again. */
const STARTS_MAX = 12;
/** The migration of an upgrade is among the first steps. */
const MIGRATION_STEPS = 16;

/** A command line and its environment. */
export interface Command {
  readonly main: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A process that ended by itself, and the steps that it took. */
export interface Undisturbed extends Ended {
  readonly steps: Readonly<Record<string, number>>;
}

/** Runs a command to its end, and counts its steps. */
export async function undisturbed({ main, args, env }: Command): Promise<Undisturbed> {
  const ended = await daywalk(args, { main, env, nodeArgs: ['--import', STEPS] });
  return { ...ended, steps: stepsIn(ended.stderr) };
}

/** Where to kill a process. */
export interface KillPlan {
  readonly random: Random;
  /** The steps of a similar run; empty if there was none. */
  readonly steps: Readonly<Record<string, number>>;
  /** True for the first run of a newer version, which is killed early. */
  readonly isUpgrade: boolean;
}

/**
 * Runs a command and kills it at a random step.
 * @returns where that was: `statement 12 of 40`.
 */
export async function killed({ main, args, env }: Command, plan: KillPlan): Promise<string> {
  let { steps } = plan;
  const ends: string[] = [];
  for (let start = 0; start < STARTS_MAX; start += 1) {
    const { kind, most } = plan.isUpgrade ? migrationOf(env) : placeOf({ ...plan, steps });
    const step = 1 + Math.floor(plan.random() * most);
    const ended = await undisturbed({ main, args, env: { ...env, KILL_KIND: kind, KILL_AT: `${step}` } });
    if (ended.signal === 'SIGKILL') return `${kind} ${step} of ${most}`;
    ends.push(`${kind} ${step} of ${most}: ${ended.code} ${ended.stderr}`);
    // The same run again would have as much to do as this one, or less.
    steps = ended.steps;
  }
  const [command, all] = [args.join(' '), ends.join('\n')];
  throw new Error(`daywalk ${command} was started ${STARTS_MAX} times, and never reached its kill:\n${all}`);
}

function placeOf({ random, steps }: KillPlan): { kind: string; most: number } {
  const [first, ...others] = KINDS.filter((kind) => (steps[kind] ?? 0) > 0);
  if (first === undefined) return { kind: 'socket', most: FIRST_STEPS };
  const kind = pick(random, [first, ...others]);
  return { kind, most: steps[kind] ?? 0 };
}

/** SQLite migrates by statements, PostgreSQL over its connection. */
function migrationOf({ DAYWALK_WAREHOUSE: location = '' }: Command['env']): { kind: string; most: number } {
  return { kind: isServer(location) ? 'socket' : 'statement', most: MIGRATION_STEPS };
}
