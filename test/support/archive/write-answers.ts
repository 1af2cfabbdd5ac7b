/** Writes answers into an archive as one of several processes: `node write-answers.ts FILE NAME COUNT`. */
import { keep, opened, PATIENCE } from './small-archive.ts';

const [, , path = '', name = '', count = '0'] = process.argv;
const archive = await opened(path, PATIENCE.clock);
const answers = Array.from({ length: Number(count) }, (_, index) =>
  keep(archive, { runId: name, text: `{"n":${index % 10},"rows":"${'row '.repeat(200)}"}` }),
);
await Promise.all(answers);
await archive.close();
