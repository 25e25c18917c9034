import { resourceWrites } from '../resources/resource-writes.ts';
import { assertionSchema } from './assertion-view.ts';

export const assertionWrites = resourceWrites('PolicyAssertion', assertionSchema, '/api/v1/assertions');
