import { z } from 'zod';
import { TEXT_LIMITS } from '../../core/base/text.ts';

/** Seconds between two polls of a command line. */
export const POLL_S = 2;

/** In quotation marks it cannot end them, nor look like another one. */
export const hostText = z
  .string()
  .max(TEXT_LIMITS.hostname)
  .regex(/^[\w.-]+$/, { error: 'letters, digits, dots and hyphens are needed' });

/** 256 bits in base64url. */
export const secretText = z
  .string()
  .max(43)
  .regex(/^[\w-]{43}$/, { error: '43 characters of base64url are needed' });
