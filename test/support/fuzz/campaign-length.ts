/** The number of mutated answers: `DAYWALK_FUZZ=1` runs all, `DAYWALK_FUZZ_ANSWERS=n` limits them. */
export function answersMax(all: number, few: number): number {
  if (process.env['DAYWALK_FUZZ'] !== '1') return few;
  const bound = process.env['DAYWALK_FUZZ_ANSWERS'];
  return bound === undefined ? all : Math.min(all, Number(bound));
}
