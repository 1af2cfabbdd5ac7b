import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { DATASETTE, NO_DATASETTE } from '../../support/bi/datasette.ts';
import { grafanaFiles } from '../../support/bi/grafana.ts';
import { readYaml } from '../../support/bi/read-yaml.ts';

// Datasette brings PyYAML.
const PROGRAM = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))';

test('PyYAML reads the files as the tests of Grafana do', ({ skip }) => {
  if (DATASETTE === null) return skip(NO_DATASETTE);
  const python = join(dirname(DATASETTE), 'python');
  const files = [...grafanaFiles()].filter(([path]) => path.endsWith('.yaml'));
  for (const [path, text] of files) {
    const output = execFileSync(python, ['-c', PROGRAM], { input: text, encoding: 'utf8' });
    expect(JSON.parse(output), path).toEqual(readYaml(text));
  }
  expect(files.length).toBe(6);
});
