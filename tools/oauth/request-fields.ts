import { z } from 'zod';
import { SCOPES } from '../../core/base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';

export const requestId = lineOfText(TEXT_LIMITS.id).min(1).describe('Id of the request, from the address of the page');

export const goesOn = z
  .string()
  .optional()
  .describe(
    'Where the browser of the person goes on; no other browser can, and the address counts once. Absent where a device asks, which goes on by itself',
  );

export const askedScopes = z.array(z.enum(SCOPES)).describe('Scopes that the client asks for');
