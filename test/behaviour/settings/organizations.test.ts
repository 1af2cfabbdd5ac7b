import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { settingsFor } from '../../../jobs/access.ts';
import { secretsOf } from '../../../src/settings/settings.ts';
import { SETTINGS } from '../../../src/settings/settings-table.ts';
import { read } from '../../support/settings/read-settings.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const KEY = 'sk-some-long-key-1';

/** A folder with an organizations file of this content, and the key file one.key. */
function folderWith(content: unknown): { readonly folder: string; readonly file: string } {
  const folder = tempDir();
  const file = join(folder, 'organizations.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  writeFileSync(join(folder, 'one.key'), `${KEY}\n`, { mode: 0o600 });
  return { folder, file };
}

/** Message, details and hint of the only problem with an organizations file. */
function mistakeIn(content: unknown): string {
  const { problems } = read({ env: { DAYWALK_ORGANIZATIONS: folderWith(content).file } });
  expect(problems).toHaveLength(1);
  const [problem] = problems;
  expect(problem?.exitCode).toBe(2);
  expect(problem?.hint).toMatch(/\S/);
  return [problem?.message, ...(problem?.details ?? []), problem?.hint].join(' | ');
}

const one = { name: 'one', apiKeyFile: 'one.key' };

describe('a mistake in the organizations file is refused', () => {
  it.each([
    ['an empty list', [], 'the list is empty'],
    ['an object', one, 'it is not a list'],
    ['no JSON', `[{"name": "one", "apiKey": "${KEY}" "x"}]`, /it is not JSON: .*line 1, column \d+/],
    ['a comment', '[] // none', 'it is not JSON'],
    ['an entry that is a text', ['one'], 'entry 1: it is not an object'],
    ['no name', [{ apiKeyFile: 'one.key' }], 'entry 1: it has no name'],
    ['a number as name', [{ ...one, name: 1 }], 'entry 1: its name is not a text'],
    ['an empty name', [{ ...one, name: ' ' }], 'entry 1: its name is empty'],
    ['a name with blanks around it', [{ ...one, name: 'one ' }], 'begins or ends with a blank'],
    ['a long name', [{ ...one, name: 'x'.repeat(101) }], 'is longer than 100 characters'],
    ['a line break in a name', [{ ...one, name: 'a\nb' }], 'has control characters'],
    ['an override of direction in a name', [{ ...one, name: 'a\u202eb' }], 'has control characters'],
    ['half a character in a name', '[{"name":"a\\ud800","apiKeyFile":"one.key"}]', 'has control characters'],
    ['one name twice', [one, { ...one, apiKeyFile: 'two.key' }], 'entry 2: the name "one" is taken'],
    [
      'two organizations without the braces between them',
      '[{"name":"a","apiKeyFile":"one.key","name":"b","apiKeyFile":"two.key"}]',
      'entry 1: it has the field "name" twice',
    ],
    ['an unknown field', [{ ...one, apikeyfile: 'x' }], 'entry 1: it has the unknown field "apikeyfile"'],
    ['a field that is almost right', [{ ...one, baseURL: 'x' }], 'did you mean baseUrl?'],
    ['no key file', [{ name: 'one' }], 'entry 1: it has no apiKeyFile'],
    ['an empty key file', [{ ...one, apiKeyFile: '' }], 'entry 1: its apiKeyFile is empty'],
    ['http to another machine', [{ ...one, baseUrl: 'http://api.example.com' }], 'its baseUrl is http'],
    [
      'a URL with credentials',
      [{ ...one, appUrl: `https://${KEY}@a.example` }],
      'its appUrl has credentials',
    ],
  ])('%s', (_, content, words) => {
    const mistake = mistakeIn(content);
    expect(mistake).toMatch(words);
    expect(mistake).not.toContain(KEY);
  });

  it.each(['apiKey', 'appApiKey'])('a key in the field %s', (field) => {
    const mistake = mistakeIn([{ ...one, [field]: KEY }]);
    expect(mistake).toContain(`entry 1: it has the key itself, in ${field}`);
    expect(mistake).toContain(`${field}File`);
    expect(mistake).not.toContain(KEY);
  });

  it('every mistake at once', () => {
    const mistake = mistakeIn([{ ...one, name: '' }, one, { name: 'three' }]);
    expect(mistake).toContain('entry 1: its name is empty');
    expect(mistake).toContain('entry 3: it has no apiKeyFile');
  });

  it('a file that does not exist, or is a folder', () => {
    const { folder } = folderWith([one]);
    mkdirSync(join(folder, 'folder'));
    const problem = (path: string) =>
      read({ env: { DAYWALK_ORGANIZATIONS: join(folder, path) } }).problems[0]?.message;
    expect(problem('gone.json')).toContain('gone.json: ENOENT');
    expect(problem('folder')).toContain('is not a regular file');
  });
});

describe('an organization of the file', () => {
  test('has the URLs of its entry, or else those of the settings', () => {
    const own = 'https://own.example';
    const { file } = folderWith([
      one,
      { ...one, name: 'own', baseUrl: own },
      { ...one, name: 'both', baseUrl: own, appUrl: 'https://app.own.example' },
    ]);
    const env = {
      DAYWALK_ORGANIZATIONS: file,
      DAYWALK_BASE_URL: 'https://main.example',
      DAYWALK_APP_URL: 'https://app.example',
    };
    const { settings } = read({ env });
    const urls = (settings.organizationsFile?.organizations ?? []).map((organization) => {
      const { apiKey, baseUrl, appUrl } = settingsFor(settings, organization);
      return [apiKey, baseUrl, appUrl];
    });
    expect(urls).toEqual([
      [KEY, 'https://main.example', 'https://app.example'],
      [KEY, own, own],
      [KEY, own, 'https://app.own.example'],
    ]);
  });

  test('cannot be used without a readable key file, while the others can', () => {
    const { file, folder } = folderWith([one, { name: 'two', apiKeyFile: 'two.key' }]);
    const { settings, problems, organizationProblems } = read({ env: { DAYWALK_ORGANIZATIONS: file } });
    expect(problems).toEqual([]);
    expect(organizationProblems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`two: read the key file ${join(folder, 'two.key')}`),
    ]);
    expect(settings.organizationsFile?.organizations.map(({ apiKey }) => apiKey)).toEqual([KEY, null]);
  });

  test('has a warning if other users can read its key file', () => {
    const { file, folder } = folderWith([one]);
    chmodSync(join(folder, 'one.key'), 0o644);
    const { warnings } = read({ env: { DAYWALK_ORGANIZATIONS: file } });
    expect(warnings).toEqual([
      { message: `other users can read the key file ${join(folder, 'one.key')}`, hint: expect.any(String) },
    ]);
  });

  test('has a key that no output shows, also after it was replaced', () => {
    const { file, folder } = folderWith([one]);
    const reading = read({ env: { DAYWALK_ORGANIZATIONS: file } });
    expect(secretsOf(reading.settings)).toContain(KEY);
    writeFileSync(join(folder, 'one.key'), 'sk-replaced-2', { mode: 0o600 });
    expect(secretsOf(reading.reread())).toContain('sk-replaced-2');
    rmSync(file);
    expect(() => reading.reread()).toThrow('ENOENT');
  });

  test('has a key that is not read by commands that send nothing', () => {
    const env = { DAYWALK_ORGANIZATIONS: folderWith([one]).file };
    const { settings } = read({ env, uses: [SETTINGS.organizations, SETTINGS.warehouse] });
    expect(settings.organizationsFile?.organizations.map(({ name, apiKey }) => [name, apiKey])).toEqual([
      ['one', null],
    ]);
  });
});

describe('beside the organizations file', () => {
  const withFile = () => folderWith([one]).file;
  it.each([
    'DAYWALK_API_KEY',
    'DAYWALK_API_KEY_FILE',
    'DAYWALK_APP_API_KEY',
    'DAYWALK_APP_API_KEY_FILE',
    'DAYWALK_ORG_ID',
  ])('%s is a contradiction, and an empty one is none', (name) => {
    const file = withFile();
    const { problems } = read({ env: { DAYWALK_ORGANIZATIONS: file, [name]: 'value-1' } });
    expect(problems.map(({ message }) => message)).toEqual([
      `${name} in the environment contradicts DAYWALK_ORGANIZATIONS in the environment`,
    ]);
    expect(read({ env: { DAYWALK_ORGANIZATIONS: file, [name]: '' } }).problems).toEqual([]);
  });

  test('--org-id is a contradiction', () => {
    const { problems } = read({ flags: { '--org-id': 'org_1', '--organizations': withFile() } });
    expect(problems.map(({ message }) => message)).toEqual(['--org-id contradicts --organizations']);
  });
});
