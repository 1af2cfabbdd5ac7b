import type { DrainReport } from './drain.ts';

/** A problem that a drain found, and what to do about it. */
export interface DrainWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** Describes what a drain left in the spool, and which lines it lost. */
export function warningsOf({ torn, kept, skipped }: DrainReport): DrainWarning[] {
  const lines = torn === 1 ? 'line' : 'lines';
  return [
    ...(torn === 0
      ? []
      : [
          {
            message: `${torn} incomplete ${lines} in the spool: receivers were killed while they wrote`,
            hint: undefined,
          },
        ]),
    ...kept.map((file) => ({
      message: `${file} holds lines of a kind that this version does not know`,
      hint: 'a newer version of daywalk may have written them: update daywalk, then remove .kept from the name',
    })),
    ...skipped.map((path) => ({
      message: `${path} is not a regular file; it was left alone`,
      hint: 'remove it from the spool: receivers need its name for their files',
    })),
  ];
}
