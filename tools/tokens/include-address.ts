import { z } from 'zod';

/** Input field of the operations that make a token which a device joins with. */
export const includeAddress = z
  .boolean()
  .optional()
  .describe('false: without the address of this control plane, as nodes up to 0.2.0 need it');
