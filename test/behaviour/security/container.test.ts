import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/core/exit-code.ts';

const ROOT = join(import.meta.dirname, '../../..');
const linesOf = (name: string) =>
  readFileSync(join(ROOT, name), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line));

describe('the image', () => {
  const lines = linesOf('Dockerfile');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  test('runs as an unprivileged user from before its entry point to its end', () => {
    const users = last.filter((line) => line.startsWith('USER '));
    // By number: Kubernetes cannot verify that a name is not root.
    expect(users).toEqual(['USER 1000:1000']);
    expect(last.indexOf('USER 1000:1000')).toBeLessThan(
      last.findIndex((line) => line.startsWith('ENTRYPOINT ')),
    );
  });

  test('writes to one folder, which only its user may access', () => {
    expect(last.join('\n')).toContain('"-o", "1000", "-g", "1000", "-m", "0700", "/data"');
    expect(last.filter((line) => line.startsWith('VOLUME '))).toEqual(['VOLUME ["/data"]']);
  });

  test('contains no secret and no build tool', () => {
    expect(lines.filter((line) => /^(ARG|ENV|COPY).*(KEY|SECRET|TOKEN|PASSWORD|\.env)/i.test(line))).toEqual(
      [],
    );
    expect(last.filter((line) => /^(RUN|COPY)/.test(line) && /npm|python|g\+\+|make|git/.test(line))).toEqual(
      [],
    );
  });

  test('runs no install script of any package', () => {
    const installs = lines.filter((line) => /"npm", "(ci|install|prune)"/.test(line));
    expect(installs.length).toBeGreaterThan(0);
    for (const line of installs) expect(line).toContain('"--ignore-scripts"');
    expect(lines.filter((line) => line.includes('rebuild'))).toEqual([]);
  });

  test('has labels for the version of the package, the licence and the source', () => {
    const { version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const text = last.join('\n');
    expect(text).toContain(`org.opencontainers.image.version="${version}"`);
    expect(text).toContain(`org.opencontainers.image.licenses="${license}"`);
    expect(text).toMatch(/org\.opencontainers\.image\.revision="\$\{REVISION\}"/);
  });

  test('takes its base images as arguments, which the publisher pins', () => {
    const froms = lines.filter((line) => line.startsWith('FROM '));
    expect(froms.map((line) => line.replace(/[${}]/g, ''))).toEqual([
      'FROM BUILD_IMAGE AS build',
      'FROM RUN_IMAGE',
    ]);
  });
});

describe('the examples', () => {
  test('for crontab run with a read-only root, without capabilities and without new privileges', () => {
    const runs = linesOf('deploy/crontab').filter((line) => line.includes('docker run'));
    expect(runs.length).toBeGreaterThan(0);
    for (const run of runs) {
      for (const flag of ['--read-only', '--cap-drop ALL', '--security-opt no-new-privileges'])
        expect(run).toContain(flag);
      // A key on a command line is seen by everybody on the machine.
      expect(run).not.toMatch(/API_KEY=/);
    }
  });

  test.each([
    'crontab',
    'compose.yaml',
    'compose-serve.yaml',
    'daywalk.service',
    'daywalk-serve.service',
    'kubernetes-cronjob.yaml',
    'kubernetes-deployment.yaml',
  ])('in %s say how a warehouse that is missing later is not created again', (file) => {
    const text = readFileSync(join(ROOT, 'deploy', file), 'utf8');
    expect(text).toMatch(/After the first night/);
    expect(text).toMatch(/DAYWALK_CREATE(=|: |, value: )never/);
  });

  test('for a CronJob do not repeat a run that needs a person', () => {
    const values = /values: \[(.*)\]/.exec(linesOf('deploy/kubernetes-cronjob.yaml').join('\n'))?.[1];
    const { defect, usage, credential, quarantine, storage } = EXIT;
    expect(values?.split(', ').map(Number)).toEqual([defect, usage, credential, quarantine, storage]);
  });

  test.each(['deploy/kubernetes-cronjob.yaml', 'deploy/kubernetes-deployment.yaml'])(
    '%s does the same, with the key as a file and without a cluster token',
    (file) => {
      const text = linesOf(file).join('\n');
      for (const setting of [
        'runAsNonRoot: true',
        'seccompProfile: { type: RuntimeDefault }',
        'automountServiceAccountToken: false',
        'allowPrivilegeEscalation: false',
        'readOnlyRootFilesystem: true',
        'capabilities: { drop: [ALL] }',
        'DAYWALK_API_KEY_FILE',
        'readOnly: true',
      ])
        expect(text).toContain(setting);
      expect(text).not.toMatch(/DAYWALK_API_KEY[,}\s]/);
    },
  );
});
