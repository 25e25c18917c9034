import { describe, expect, it } from 'vitest';
import { CONNECT_DEFAULTS, parseConnect } from './connect.ts';

describe('CONNECT', () => {
  it('keeps what it does not name', () => {
    expect(parseConnect('{"verbose":false,"no_responders":true,"unknown":[1]}', CONNECT_DEFAULTS)).toEqual({
      ...CONNECT_DEFAULTS,
      verbose: false,
      noResponders: true,
    });
  });

  it('takes the credential from the first field that has one', () => {
    const credentials = [
      '{"user":"u","pass":"p","auth_token":"t"}',
      '{"user":"u","pass":"p"}',
      '{"user":"u","pass":""}',
    ];
    expect(credentials.map((json) => parseConnect(json, CONNECT_DEFAULTS)?.credential)).toEqual(['t', 'p', 'u']);
  });

  it.each(['', '{', '[]', '"x"', '1', '{"verbose":"no"}', '{"user":1}', '{"protocol":"1"}', '{"protocol":1.5}'])(
    'refuses %j',
    (json) => {
      expect(parseConnect(json, CONNECT_DEFAULTS)).toBeUndefined();
    },
  );
});
