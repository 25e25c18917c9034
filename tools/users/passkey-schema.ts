import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';

const signed = lineOfText(TEXT_LIMITS.passkey).min(1);
export const credentialId = lineOfText(TEXT_LIMITS.credentialId).min(1);

/** Of `PublicKeyCredential.toJSON()`, after `navigator.credentials.get`. */
export const assertion = z
  .strictObject({ id: credentialId, clientDataJSON: signed, authenticatorData: signed, signature: signed })
  .describe('a signature by a passkey for a challenge of create_passkey_challenge');

/** Of `PublicKeyCredential.toJSON()`, after `navigator.credentials.create`. */
export const newCredential = z
  .strictObject({ id: credentialId, clientDataJSON: signed, attestationObject: signed })
  .describe('the fresh passkey');

export const dashboardOrigin = lineOfText(TEXT_LIMITS.hostname)
  .min(1)
  .describe('of the dashboard: one of app.publicUrls with a host name, or http://localhost:<port>');

export const challenge = {
  challenge: z.string().describe('for the authenticator, base64url; good once, for five minutes'),
  host: z.string().describe('host name that the passkey belongs to (rpId)'),
};
