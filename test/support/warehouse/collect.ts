/** Collects all items of a stream of lists. */
export async function collect<Item>(chunks: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const chunk of chunks) all.push(...chunk);
  return all;
}
