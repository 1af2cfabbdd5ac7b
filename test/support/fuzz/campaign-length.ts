/** How many mutated answers: `DAYWALK_FUZZ=1` takes the time for all, and `DAYWALK_FUZZ_ANSWERS=n` bounds them again. */
export function answersMax(all: number, few: number): number {
  if (process.env['DAYWALK_FUZZ'] !== '1') return few;
  const bound = process.env['DAYWALK_FUZZ_ANSWERS'];
  return bound === undefined ? all : Math.min(all, Number(bound));
}
