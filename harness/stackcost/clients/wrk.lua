-- Prints wrk's counts, and each time that it recorded with its number, instead of its summary.
-- STACKCOST_PATHS: paths to ask for in turn; none leaves wrk its one request, made once.
local ffi = require("ffi")
ffi.cdef("struct stats { uint64_t count, limit, min, max, data[]; };")

local paths = {}
for path in (os.getenv("STACKCOST_PATHS") or ""):gmatch("%S+") do
   paths[#paths + 1] = path
end

if #paths > 1 then
   local requests, at = {}, 0
   function init()
      for i, path in ipairs(paths) do
         requests[i] = wrk.format("GET", path)
      end
   end
   function request()
      at = at % #requests + 1
      return requests[at]
   end
end

function done(summary, latency, requests)
   local e = summary.errors
   io.write(string.format("stackcost %d %d %d connect=%d read=%d write=%d status=%d timeout=%d\n",
      summary.duration, summary.requests, summary.bytes,
      e.connect, e.read, e.write, e.status, e.timeout))
   -- latency(i) of wrk goes through all microseconds up to the i-th time. After a stall of some
   -- seconds that takes minutes, so its record (struct stats in stats.h of wrk) is read once.
   local record, found = ffi.cast("struct stats **", latency)[0], 0
   for value = tonumber(record.min), tonumber(record.max) do
      local count = tonumber(record.data[value])
      if count > 0 then
         found = found + 1
         io.write(string.format("time %d %d\n", value, count))
      end
   end
   assert(found == #latency, "wrk keeps its times in another way than wrk 4.1")
end
