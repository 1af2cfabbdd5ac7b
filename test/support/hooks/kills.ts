/** Numbers from 0 up to 1 that are the same for the same seed, which is printed: `DAYWALK_SEED=… npx vitest run` repeats them. */
export function seededRandom(): () => number {
  const seed = Number(process.env['DAYWALK_SEED'] ?? Date.now() % 1_000_000);
  process.stderr.write(`DAYWALK_SEED=${seed}\n`);
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
