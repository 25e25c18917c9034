import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { proxyOf } from './node-options.ts';

it('takes a port of the loopback interface for the proxy, with or without its address, and no other address', () => {
  expect(proxyOf('0')).toEqual({ host: '127.0.0.1', port: 0 });
  expect(proxyOf('127.0.0.1:1055')).toEqual({ host: '127.0.0.1', port: 1_055 });
  expect(proxyOf('[::1]:0')).toEqual({ host: '::1', port: 0 });
  for (const text of ['', '70000', '0.0.0.0:1055', '192.0.2.1:1055', 'proxy:1055']) {
    expect(() => proxyOf(text)).toThrow(InvalidArgumentError);
  }
});
