import { findTarget, type WrittenFolder, writeFolder } from '../src/bi/index.ts';

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
  const written = await writeFolder(directory, name, target.files());
  return { target: name, ...written, next_steps: target.nextSteps(directory) };
}
