-- Prints wrk's counts, and each time that it recorded with its number, instead of its summary.
-- STACKCOST_PATHS: paths to ask for in turn; none leaves wrk its one request, made once.
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
   for i = 1, #latency do
      local value, count = latency(i)
      io.write(string.format("time %d %d\n", tonumber(value), tonumber(count)))
   end
end
