import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeXorAddress } from './address.ts';
import { BindingAnswers } from './binding-answer.ts';
import { ATTRIBUTES, BINDING, encodeStun } from './message.ts';

test('an answer written in place has the bytes of any other success, whatever was answered before', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const asked = fc.record({ transactionId: bytes(12), ip: fc.oneof(bytes(4), bytes(16)), port: fc.nat(65_535) });
  const answers = new BindingAnswers();
  fc.assert(
    fc.property(asked, ({ transactionId, ip, port }) => {
      const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
      const value = encodeXorAddress(ip, port, transactionId);
      const attributes = [{ type: ATTRIBUTES.xorMappedAddress, value }];
      expect(answers.to(request, ip, port)).toEqual(
        encodeStun({ class: 'success', method: BINDING, transactionId, attributes }),
      );
    }),
  );
});
