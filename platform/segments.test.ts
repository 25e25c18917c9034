import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countOf, partsOf } from './segments.ts';

it('coalesced datagrams are as many as their parts, of one length but the last, and lose no byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(80), (bytes, segment) => {
      const parts = [...partsOf(bytes, segment)];
      expect(parts).toHaveLength(countOf(bytes, segment));
      expect(parts.flatMap((part) => [...part])).toEqual([...bytes]);
      for (const part of segment > 0 ? parts.slice(0, -1) : []) expect(part).toHaveLength(segment);
    }),
  );
});
