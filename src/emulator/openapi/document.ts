import { SESSIONS_PATH } from '../../api/paths.ts';
import { SESSION_SCHEMAS } from '../sessions/schemas.ts';
import { ANSWER_SCHEMAS } from './answer-schemas.ts';
import { OPERATIONS } from './operations.ts';
import { ROW_SCHEMAS } from './row-schemas.ts';
import { SESSION_OPERATIONS } from './sessions.ts';
import { TAGS } from './tags.ts';

/** The path of the document. It needs no key. */
export const OPENAPI_PATH = '/openapi.json';

/** The OpenAPI 3.1 document of what the emulator serves with its default quirks. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Agent Platform API',
    summary: 'Analytics, readiness reports and sessions.',
    version: '1.0.0',
    description:
      'The API of the Daywalk emulator with its default quirks. Where the specification is open, the emulator behaves in ' +
      'the most likely way, and quirks change that; see docs/emulator.md. The examples work with the default seed.',
    contact: { name: 'The Daywalk maintainers' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
  security: [{ apiKey: [] }],
  tags: Object.values(TAGS),
  paths: { ...OPERATIONS, [SESSIONS_PATH]: SESSION_OPERATIONS },
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'Authorization: Bearer <API_KEY>. Analytics needs a key of the Manager or Owner role.',
      },
      jwt: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'Creates sessions only. The emulator accepts the JWT in the quirk sessionsJwt.',
      },
    },
    schemas: { ...ROW_SCHEMAS, ...ANSWER_SCHEMAS, ...SESSION_SCHEMAS },
  },
} as const;
