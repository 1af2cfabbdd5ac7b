import { SESSIONS_PATH } from '../../api/paths.ts';
import { SESSION_SCHEMAS } from '../sessions/schemas.ts';
import { ANSWER_SCHEMAS } from './answer-schemas.ts';
import { OPERATIONS } from './operations.ts';
import { ROW_SCHEMAS } from './row-schemas.ts';
import { SESSION_OPERATIONS } from './sessions.ts';
import { TAGS } from './tags.ts';

/** Where the document is served, without a key. */
export const OPENAPI_PATH = '/openapi.json';

/** The OpenAPI 3.1 document of what the emulator serves with its default quirks. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Agent Platform API',
    summary: 'Analytics, readiness reports and sessions.',
    version: '1.0.0',
    description:
      'What the Daywalk emulator serves with its default quirks. Open points of the specification are answered in the ' +
      'way that is most likely, and are switchable; see docs/emulator.md. The examples are ' +
      'answered by an emulator with the default seed.',
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
        description: 'Creates sessions only. The emulator accepts the one that the quirk sessionsJwt names.',
      },
    },
    schemas: { ...ROW_SCHEMAS, ...ANSWER_SCHEMAS, ...SESSION_SCHEMAS },
  },
} as const;
