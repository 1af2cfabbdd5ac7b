import { statSync } from 'node:fs';

/** Returns which file a path leads to; undefined where there is none, or none that this user may see. */
export function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
