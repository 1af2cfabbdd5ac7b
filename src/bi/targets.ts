import { nearestName, UsageError } from '../core/errors.ts';
import type { BiTarget, WrittenFolder } from './write-folder.ts';

/** A target by its name, with what help says about it. Its files are loaded when they are needed. */
interface NamedTarget {
  /** As `daywalk bi` takes it. */
  readonly name: string;
  /** What is written, in a few words. */
  readonly summary: string;
  load(): Promise<BiTarget>;
}

/** Every target of `daywalk bi`, in the order of the documentation. */
export const biTargets: readonly NamedTarget[] = [
  {
    name: 'sql',
    summary: 'one commented statement per metric and question, for any tool that takes SQL',
    load: async () => (await import('./sql.ts')).sqlTarget,
  },
  {
    name: 'datasette',
    summary: 'descriptions, queries and dashboards for Datasette',
    load: async () => (await import('./datasette.ts')).datasetteTarget,
  },
  {
    name: 'grafana',
    summary: 'dashboards, data sources and alert rules for Grafana, for PostgreSQL and SQLite',
    load: async () => (await import('./grafana/target.ts')).grafanaTarget,
  },
  {
    name: 'dbt',
    summary: 'a package for dbt with tests, models and metrics for MetricFlow',
    load: async () => (await import('./dbt/target.ts')).dbtTarget,
  },
];

/**
 * Finds a target by its name.
 * @throws {UsageError} if there is none.
 */
function findTarget(name: string): NamedTarget {
  const found = biTargets.find((target) => target.name === name);
  if (found !== undefined) return found;
  const names = biTargets.map((target) => target.name);
  const nearest = nearestName(name, names);
  throw new UsageError(`there are no files for "${name}"`, {
    hint: nearest === undefined ? `choose from ${names.join(', ')}` : `did you mean ${nearest}?`,
  });
}

/** Which files to write, and where. */
interface BiRequest {
  /** The name of a target. */
  readonly target: string;
  readonly directory: string;
}

/** What was written, and what to do next. */
export interface BiReport extends WrittenFolder {
  readonly target: string;
  readonly next_steps: readonly string[];
}

/**
 * Writes the ready files for another tool, see {@link writeFolder}. Opens no warehouse, and may be repeated.
 * @throws {UsageError} also if there is no such target.
 */
export async function writeBi({ target: asked, directory }: BiRequest): Promise<BiReport> {
  const { name, load } = findTarget(asked);
  const target = await load();
  // Help names the targets, and writes nothing.
  const { writeFolder } = await import('./write-folder.ts');
  const written = await writeFolder(directory, name, target.files());
  return { target: name, ...written, next_steps: target.nextSteps(directory) };
}
