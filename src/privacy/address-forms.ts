/** A way in which a text may hold an email address, or something that looks like one. */
export interface AddressForm {
  /** What the form is called in the documentation. */
  readonly name: string;
  /** Texts in which `ada@example.com` is written in this form, or that look like an address. */
  readonly examples: readonly string[];
}

/** The forms in which an address is replaced, in texts, keys and URLs. */
export const RECOGNIZED: readonly AddressForm[] = [
  { name: 'plain, in any letter case', examples: ['ada@example.com', 'Ada.Lovelace+x@Mail.Example.co.uk'] },
  { name: 'of any script', examples: ['jörg@müller.example', 'иван@пример.рф', 'ada＠example.com'] },
  {
    name: 'in brackets, quotes, sentences, flags and paths',
    examples: [
      'Ada <ada@example.com>.',
      '--to=ada@example.com',
      "'ada@example.com'",
      '/home/ada@example.com/x',
    ],
  },
  {
    name: 'in a URL, also in its user info, which loses passwords and well-known tokens besides',
    examples: [
      'mailto:ada@example.com',
      'https://example.org/?to=ada@example.com&x=1',
      'https://ada%40example.com:secret@example.org/',
      'https://ada@example.com:secret@example.org/',
    ],
  },
  {
    name: 'percent-encoded, once or several times',
    examples: ['to=ada%40example.com', 'to=ada%2540example.com'],
  },
  {
    name: 'with the @ as an escape of JSON or HTML, or after a backslash',
    examples: [String.raw`ada\u0040example.com`, 'ada&#64;example.com', String.raw`ada\@example.com`],
  },
  {
    name: 'as a whole word of Base64, alone or as `user:address`',
    examples: [
      'YWRhQGV4YW1wbGUuY29t',
      'Basic YWRhQGV4YW1wbGUuY29tOnNlY3JldA==',
      'x/Ym9iOmFkYUBleGFtcGxlLmNvbQ',
    ],
  },
  { name: 'joined with other words', examples: ['home-ada@example.com', 'mcp__ada@example.com'] },
];

/** Forms that are not recognized: such a text stays as it is. */
export const UNRECOGNIZED: readonly AddressForm[] = [
  { name: 'spelled out', examples: ['ada at example dot com', 'ada [at] example.com'] },
  { name: 'without a dot in the domain', examples: ['ada@intranet'] },
  { name: 'with a number for a domain', examples: ['ada@10.0.0.7', 'ada@[10.0.0.7]'] },
  { name: 'with blanks around the @', examples: ['ada @ example.com'] },
  {
    name: 'part of a longer text in Base64, or encoded in another way',
    examples: ['YWRhQGV4YW1wbGUuY29tCg==', '616461406578616d706c652e636f6d'],
  },
  { name: 'the name before the @ alone', examples: ['/home/ada', 'https://ada@example.org/repo.git'] },
];

/** Texts that only look like an address, and stay byte for byte. */
export const LOOK_ALIKES: readonly AddressForm[] = [
  {
    name: 'a package and its version',
    examples: [
      'npx eslint@9.1.0 .',
      '@types/node@22.1.0',
      'lodash@npm:4.17.21',
      'x@1.2.3-beta.rc',
      'x@1.2.3.tgz',
      'react@^18.2.0',
    ],
  },
  {
    name: 'a repository over SSH',
    examples: ['git@github.com:acme/api.git', 'ssh://git@github.com/acme/api.git'],
  },
  { name: 'a user in a URL', examples: ['https://ada@github.com/acme/api.git'] },
  { name: 'an action and its tag', examples: ['actions/checkout@v4.1.0', 'actions/checkout@main'] },
  { name: 'an image and its digest', examples: ['ghcr.io/acme/api@sha256:0123abcd'] },
  { name: 'a module and its version', examples: ['golang.org/x/tools@v0.1.0'] },
  { name: 'a size of an image file', examples: ['logo@2x.png', 'logo@1.5x.webp'] },
  { name: 'a unit of systemd', examples: ['systemctl restart user@1000.service'] },
  {
    name: 'decorators, scopes and other uses of the @',
    examples: ['@app.route("/")', '@scope/package', 'a @ b', 'x@y'],
  },
];
