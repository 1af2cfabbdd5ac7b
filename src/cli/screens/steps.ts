import type { Style } from '../text/style.ts';

/** A command to run next, and what it does. */
export type Step = readonly [command: string, does?: string];

/** Draws commands to run next, under a title. Draws nothing without steps. */
export function renderSteps(
  title: string,
  steps: readonly Step[],
  { style }: { readonly style: Style },
): string[] {
  if (steps.length === 0) return [];
  const lines = steps.flatMap(([command, does]) => [
    `  ${command}`,
    ...(does === undefined ? [] : [style.dim(`      ${does}`)]),
  ]);
  return ['', style.bold(title), ...lines];
}
