import { type Received, receiver } from '../alerts/receiver.ts';
import { MAIN } from '../process/daywalk-process.ts';
import type { Random } from '../random/seed.ts';
import { tempDir } from '../suite/temp-dir.ts';
import type { Database, Place } from '../warehouse/each-database.ts';
import { eraseThroughKills, erasing, type Person, somebodyOf } from './erasure.ts';
import { type Plan, sceneOf } from './plan.ts';
import { type Command, killed, undisturbed } from './program.ts';
import { dayOfNight, NAMES } from './scenes.ts';
import { type Services, startServices } from './services.ts';

/** What a rehearsal works with. */
export interface RehearsalOptions {
  readonly database: Database;
  readonly plan: Plan;
  readonly random: Random;
  /** The script of the newer version, which replaces the program in the night of the upgrade. */
  readonly nextMain: string;
  /** Receives a line after each night. */
  readonly progress: (line: string) => void;
}

/** A rehearsal after its last night. */
export interface Rehearsed {
  readonly plan: Plan;
  readonly database: Database;
  readonly place: Place;
  readonly archive: string;
  /** The exit codes of each night by organization, as `0 0 3`. */
  readonly exits: readonly string[];
  /** Where each night's first run was killed. */
  readonly kills: readonly string[];
  /** Whom the erasure has erased. */
  readonly erased: Person;
  /** What the webhook received. */
  readonly messages: readonly Received[];
  /** Makes a command of the newest version in the last night. */
  command(args: readonly string[], env: Command['env']): Command;
}

/** Performs every night of a plan: a run that is killed, and the next run, which resumes. */
export async function rehearse(options: RehearsalOptions): Promise<Rehearsed> {
  const { database, plan, random, progress } = options;
  const folder = tempDir();
  const services = await startServices(folder, plan);
  const webhook = await receiver();
  const [place, archive] = [database.place(), tempDir()];
  const own = {
    DAYWALK_WAREHOUSE: place.location,
    DAYWALK_ARCHIVE: archive,
    DAYWALK_ALERT_WEBHOOK: webhook.url,
    // Every restatement of a large enough sum is an incident.
    DAYWALK_ALERT_RESTATEMENT_SHARE: '0',
  };
  const erasure = sceneOf(plan, 'erasure');
  const [organization = NAMES[0]] = erasure.organizations;
  const [exits, kills, erased]: [string[], string[], Person[]] = [[], [], []];
  let steps: Readonly<Record<string, number>> = {};
  for (let night = 1; night <= plan.nights; night += 1) {
    services.begin(night);
    const commandAt = commandsIn(night, services, options);
    // A run that is killed holds the warehouse until its server notices.
    const args = ['run', '--json', '--wait'];
    const isUpgrade = night === sceneOf(plan, 'upgrade').night;
    kills.push(await killed(commandAt('03:00', args, own), { random, steps, isUpgrade }));
    const ended = await undisturbed(commandAt('03:30', args, own));
    steps = ended.steps;
    exits.push(exitsIn(ended));
    progress(`night ${night}: ${exits.at(-1)}, killed at ${kills.at(-1)}`);
    if (night !== erasure.night) continue;
    const person = await somebodyOf({ place, orgId: services.orgIdOf(organization), organization }, random);
    const count = await eraseThroughKills(commandAt('04:00', erasing(person), own), random);
    erased.push(person);
    progress(`a person of ${organization} was erased after ${count} kills`);
  }
  const [person] = erased;
  if (person === undefined) throw new Error('nobody was erased');
  return {
    ...{ plan, database, place, archive, exits, kills, erased: person, messages: webhook.received },
    command: (args, env) => commandsIn(plan.nights, services, options)('05:00', args, env),
  };
}

/** Makes the commands of a night, each of a time of day. */
function commandsIn(night: number, { file }: Services, { plan, nextMain }: RehearsalOptions) {
  const main = night < sceneOf(plan, 'upgrade').night ? MAIN : nextMain;
  return (time: string, args: readonly string[], env: Command['env']): Command => ({
    main,
    args,
    env: {
      DAYWALK_ORGANIZATIONS: file,
      // Nothing fails by chance here, so nothing needs a second attempt.
      DAYWALK_ATTEMPTS: '1',
      DAYWALK_PATIENCE: '0',
      DAYWALK_LOG: 'silent',
      DAYWALK_NOW: `${dayOfNight(night)}T${time}:00Z`,
      ...env,
    },
  });
}

/** The exit codes of a round by organization; what it said if it did not report any. */
function exitsIn({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  if (stdout === '') return stderr;
  const round: { organizations: { name: string; exitCode: number }[] } = JSON.parse(stdout);
  const codes = new Map(round.organizations.map(({ name, exitCode }) => [name, exitCode]));
  return NAMES.map((name) => codes.get(name) ?? '?').join(' ');
}
