/** Stands in for node:fs/promises: virtual time stands still while a file is read. */
import * as files from 'node:fs/promises';
import { currentIfAny } from '../simulation.js';

const counted = <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  ((...args: A): Promise<R> => currentIfAny()?.kernel.real(() => work(...args)) ?? work(...args)) as typeof work;

export const readFile = counted(files.readFile as (...args: unknown[]) => Promise<unknown>) as typeof files.readFile;
export const readdir = counted(files.readdir as (...args: unknown[]) => Promise<unknown>) as typeof files.readdir;
export const stat = counted(files.stat as (...args: unknown[]) => Promise<unknown>) as typeof files.stat;
export const lstat = counted(files.lstat as (...args: unknown[]) => Promise<unknown>) as typeof files.lstat;
export const realpath = counted(files.realpath as (...args: unknown[]) => Promise<unknown>) as typeof files.realpath;
export const access = counted(files.access as (...args: unknown[]) => Promise<unknown>) as typeof files.access;
export const { constants, mkdir, writeFile, rm, rename, open, mkdtemp } = files;
