import express from 'express';
import { isLoopback } from '../core/base/loopback.ts';

/** Proxies whose X-Forwarded-For is believed, as express takes it: all, a count of hops or a list of addresses. */
export type TrustProxy = true | number | readonly string[];

/** Tells addresses that many callers may connect from: this machine, and proxies that are trusted, as express has it. */
export function sharedAddresses(trust: TrustProxy | undefined): (address: string) => boolean {
  if (trust === undefined) return isLoopback;
  const trusts: (address: string, hop: number) => boolean = express().set('trust proxy', trust).get('trust proxy fn');
  return (address) => isLoopback(address) || trusts(address, 0);
}
